from .private_pc import PrivatePC

__all__ = ["PrivatePC"]
