"""The interface of a scikit-learn transformer, without importing scikit-learn, which would delay a query."""

from __future__ import annotations

import inspect
import sys
from typing import Any, TypeVar

Own = TypeVar("Own", bound="Transformer")


class Transformer:
    """Parameters by name, data frames on request, and tags: pipelines, searches over grids and `clone` work.

    Parameters are the keyword arguments of `__init__`, kept in attributes of the same names.
    """

    _sklearn_output_config: dict[str, str]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Parameters by name."""
        return {name: getattr(self, name) for name in _parameters(type(self))}

    def set_params(self: Own, **params: Any) -> Own:
        """Changes parameters.

        Raises:
            ValueError: No parameter has this name.
        """
        known = _parameters(type(self))
        for name, value in params.items():
            if name not in known:
                raise ValueError(f"{type(self).__name__} has no parameter {name!r}; it has {', '.join(sorted(known))}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        given = {name: getattr(self, name) for name, default in _parameters(type(self)).items()
                 if not _is_same(getattr(self, name), default)}  # fmt: skip
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def set_output(self: Own, *, transform: str | None = None) -> Own:
        """What `transform` returns: "default", "pandas" or "polars"; None changes nothing."""
        if transform not in (None, "default", "pandas", "polars"):
            raise ValueError(f"transform={transform!r}; it is 'default', 'pandas' or 'polars'")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # the name that `clone` copies
        return self

    def fit_transform(self, graphs: Any, y: Any = None, **fit_params: Any) -> Any:
        """`fit`, then `transform` of the same graphs."""
        return self.fit(graphs, y, **fit_params).transform(graphs)  # type: ignore[attr-defined]

    def _as_output(self, vectors: Any) -> Any:
        """An array, or the data frame that `set_output` or scikit-learn's settings ask for."""
        sklearn = sys.modules.get("sklearn")
        wanted = "default" if sklearn is None else sklearn.get_config()["transform_output"]
        wanted = getattr(self, "_sklearn_output_config", {}).get("transform", wanted)
        if wanted == "default":
            return vectors
        names = self.get_feature_names_out()  # type: ignore[attr-defined]
        if wanted == "pandas":
            from pandas import DataFrame

            return DataFrame(vectors, columns=names)
        import polars  # type: ignore[import-not-found,unused-ignore]

        return polars.DataFrame(vectors, schema=list(names))

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None, target_tags=TargetTags(required=False), transformer_tags=TransformerTags(),
            input_tags=InputTags(two_d_array=False),
        )  # fmt: skip


def _parameters(kind: type) -> dict[str, Any]:
    """Names and defaults."""
    signature = inspect.signature(kind.__init__)  # type: ignore[misc]
    return {name: found.default for name, found in signature.parameters.items() if name != "self"}


def _is_same(value: Any, default: Any) -> bool:
    return value is default or (type(value) is type(default) and bool(value == default))
