"""The normal form of a column: values of one kind, and which rows have none. Everything else sees only this.

A column may come from an array, a list, pandas, Polars or Arrow, each with its own types and its own way to mark
missing values. No conversion of these libraries is trusted with values that are missing, too large or of mixed types:
pyarrow reads a missing entry of a dictionary as the last one, which one record decides. So this module, and no other,
has one function for each library, and each proceeds in the same order:

1. the declared type, which is public, gives the kind of the column;
2. the mask of missing values is taken from the container: nulls, NA, NaT, NaN, codes of -1;
3. the values that are present are converted, exactly: integers, decimals and counts of a unit of time stay what they
   are, so that no two labels become one;
4. later steps put missing values back by the mask.

Without a declared type (a list, an array of objects), the kind is `OBJECTS`: later steps judge each value separately.
A column never depends on another row: equal values are only stored once where the container does so, or for speed.
"""
