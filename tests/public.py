"""The public packages and their public names."""

import inspect

import skdpmic

_TOP = {name: getattr(skdpmic, name) for name in skdpmic.__all__}
PACKAGES = [skdpmic, *filter(inspect.ismodule, _TOP.values())]
NAMES = {
    f"{package.__name__}.{name}": getattr(package, name)
    for package in PACKAGES
    for name in package.__all__
    if not inspect.ismodule(getattr(package, name))
}
