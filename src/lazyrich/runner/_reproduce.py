"""From an experiment to its folder: data, claims, figure, record."""

import dataclasses
import datetime
import hashlib
import importlib.metadata
import io
import json
import os
import platform
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lazyrich import __version__, plotting, store
from lazyrich.core import (
    Context,
    Experiment,
    argument_error,
    config_to_json,
    flag,
    jsonable,
    reference,
)
from lazyrich.runner._code_digest import code_digest
from lazyrich.runner._folder import SCHEMA_VERSION, Folder
from lazyrich.store._path import as_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    import xarray
    from matplotlib.figure import Figure

_NAME = re.compile(r"[\w-]{1,100}")  # of a folder: one level, and never above
PROVENANCE = ("created", "versions", "machine")
"""Of a result that comes from the store, these are told as they were when it was computed."""


def result_key(experiment: Experiment, config: Any, data_folder: Path | None = None) -> str:
    """The name of a result: its experiment, configuration (seeds included), code and data.

    Args:
        experiment: from `lazyrich.experiments`.
        config: one of its configurations.
        data_folder: where data sets lie, or None.
    """
    _check(experiment, config)
    if data_folder is not None:
        data_folder = as_path("data_folder", data_folder)
    fingerprint = experiment.data_fingerprint
    parts = {
        "id": experiment.id,
        "config": config_to_json(config),
        "code": code_digest(experiment.module),
        "data": fingerprint(data_folder) if fingerprint else None,
    }
    digest = hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
    return f"{experiment.paper}-{experiment.item}-{digest[:32]}"


def reproduce(
    experiment: Experiment,
    config: Any,
    folder: Folder,
    *,
    preset: str = "quick",
    context: Context | None = None,
    again: bool = False,
    pdf: bool = False,
    animate: bool = False,
) -> dict[str, Any]:
    """Run an experiment, or take its stored result; judge its claims, draw it, write it all down.

    Args:
        experiment: from `lazyrich.experiments`.
        config: one of its configurations.
        folder: where everything goes.
        preset: the configuration's name, which names the subfolder.
        context: progress, cancellation and data folders; checkpoints are added here.
        again: compute even if the result is stored.
        pdf: write a vector figure beside the PNG.
        animate: write an animation too, where the experiment has one.

    Returns:
        The record that `result.json` holds.
    """
    started = time.monotonic()
    _check(experiment, config)
    _check_place(folder, preset)
    again, pdf, animate = flag("again", again), flag("pdf", pdf), flag("animate", animate)
    if context is not None and not isinstance(context, Context):
        raise argument_error("context", "be a Context or None", context)
    context = context or Context()
    key = result_key(experiment, config, context.data_folder)
    result = None if again else folder.results.get(key)
    from_store = result is not None
    if result is None:
        result = _compute(experiment, config, folder, key, context)
    folder.discard_checkpoints(f"{key}.")
    home = folder.path / preset / experiment.paper / experiment.item
    files = {"animation": None} | _write_files(experiment, config, result, home, pdf)
    if animate and experiment.frames is not None:
        files["animation"] = _write_animation(experiment.frames(result, config), home)
    metadata = folder.results.header(key)["metadata"]
    store.write_result(home / "data.lazyrich", result, key=key, metadata=metadata)
    record = _describe(experiment, config, key) | {name: metadata[name] for name in PROVENANCE} | {
        "preset": preset, "command": _command(experiment, config, preset),
        "status": "done", "error": "", "from_store": from_store,
        "seconds": round(time.monotonic() - started, 3),
        "claims": [claim.to_json() for claim in experiment.claims(result, config)],
        "files": {name: path and str(path.relative_to(folder.path)) for name, path in files.items()},
    }  # fmt: skip
    _write_json(home / "result.json", record)
    return record


def _check(experiment: Any, config: Any) -> None:
    """Refuse what is no experiment, or none of its configurations."""
    if not isinstance(experiment, Experiment):
        raise argument_error(
            "experiment",
            "be an Experiment",
            experiment,
            "Pass e.g. experiments.get('saddles/fig1d').",
        )
    kinds = tuple({type(known) for known in experiment.presets.values()})
    if not isinstance(config, kinds):
        raise argument_error(
            "config", f"be a configuration of {experiment.id}", config,
            "Pass e.g. experiment.config('quick').",
        )  # fmt: skip


def _check_place(folder: Any, preset: Any) -> None:
    """Refuse what is no folder, or no name for a subfolder."""
    if not isinstance(folder, Folder):
        raise argument_error("folder", "be a Folder", folder, "Pass e.g. runner.Folder('results').")
    if not isinstance(preset, str) or not _NAME.fullmatch(preset):
        raise argument_error("preset", "be a name of letters, digits, _ and -", preset)


def _compute(
    experiment: Experiment, config: Any, folder: Folder, key: str, context: Context
) -> "xarray.Dataset":
    pieces, prefix = folder.checkpoints, f"{key}."
    context = dataclasses.replace(
        context,
        load=lambda name: pieces.get(prefix + name),
        save=lambda name, piece: pieces.write(prefix + name, piece),
    )
    started = time.monotonic()
    result = experiment.run(config, context)
    seconds = time.monotonic() - started
    metadata = _describe(experiment, config, key) | {"run_seconds": round(seconds, 3)}
    folder.results.write(key, result, metadata)
    return folder.results.read(key)  # what is drawn is what is stored


def _write_files(
    experiment: Experiment, config: Any, result: "xarray.Dataset", home: Path, pdf: bool
) -> dict[str, Path | None]:
    with plotting.style():
        figure = experiment.figure(result, config)
    files: dict[str, Path | None] = {"figure": home / "figure.png", "data": home / "data.lazyrich"}
    for name, format in [("figure", "png"), *([("pdf", "pdf")] if pdf else [])]:
        files[name] = path = home / f"figure.{format}"
        picture = io.BytesIO()
        metadata = {"CreationDate": None} if format == "pdf" else None  # same data, same file
        figure.savefig(picture, format=format, metadata=metadata)
        store.write_atomically(path, picture.getvalue())
    return {"pdf": None} | files


def _write_animation(frames: "Iterator[Figure]", home: Path) -> Path:
    """The frames as a GIF that repeats, 15 a second."""
    from PIL import Image

    pictures = []
    with plotting.style():
        for figure in frames:
            page = io.BytesIO()
            figure.savefig(page, format="png", dpi=100)
            pictures.append(Image.open(page).convert("P", palette=Image.Palette.ADAPTIVE))
    film = io.BytesIO()
    pictures[0].save(film, "GIF", save_all=True, append_images=pictures[1:], duration=67, loop=0)
    store.write_atomically(home / "animation.gif", film.getvalue())
    return home / "animation.gif"


def failure(
    experiment: Experiment, config: Any, folder: Folder, preset: str, error: BaseException
) -> dict[str, Any]:
    """The record of an experiment that crashed, written like the others."""
    _check(experiment, config)
    _check_place(folder, preset)
    if not isinstance(error, BaseException):
        raise argument_error("error", "be an exception", error)
    key = result_key(experiment, config)
    text = f"{type(error).__name__}: {error}".splitlines()
    record = _describe(experiment, config, key) | {
        "preset": preset, "command": _command(experiment, config, preset),
        "status": "failed", "error": text[0] if text else type(error).__name__, "from_store": False,
        "seconds": 0.0, "claims": [],
        "files": {"figure": None, "data": None, "pdf": None, "animation": None},
    }  # fmt: skip
    _write_json(folder.path / preset / experiment.paper / experiment.item / "result.json", record)
    return record


def _describe(experiment: Experiment, config: Any, key: str) -> dict[str, Any]:
    now = datetime.datetime.now(datetime.UTC)
    papers = [reference(name) for name in experiment.references]
    return {
        "schema_version": SCHEMA_VERSION,
        "id": experiment.id,
        "paper": experiment.paper,
        "title": experiment.title,
        "caption": experiment.caption,
        "config": config_to_json(config),
        "key": key,
        "created": now.isoformat(timespec="seconds"),
        "versions": _versions(),
        "machine": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        "convention": experiment.convention.attributes(),
        "citation": {
            "text": papers[0].text,
            "bibtex": "\n\n".join(paper.bibtex for paper in papers),
        },
    }


def _command(experiment: Experiment, config: Any, preset: str) -> str:
    """What to type to get the same; nothing where the configuration is not one of the presets'."""
    num_seeds = getattr(config, "num_seeds", None)
    if preset not in experiment.presets or config != experiment.config(preset, num_seeds):
        return ""
    seeds = "" if config == experiment.config(preset) else f" --seeds {num_seeds}"
    return f"lazyrich reproduce {experiment.id} --preset {preset}{seeds}"


def _versions() -> dict[str, str]:
    names = ("jax", "jaxlib", "numpy", "scipy", "xarray", "matplotlib")
    return {"lazyrich": __version__, "python": platform.python_version()} | {
        name: importlib.metadata.version(name) for name in names
    }


def _write_json(path: Path, record: dict[str, Any]) -> None:
    text = json.dumps(jsonable(record), indent=1, ensure_ascii=False, allow_nan=False)
    # file names that are not Unicode have characters that UTF-8 lacks; as escapes they are JSON
    store.write_atomically(path, text.encode(errors="backslashreplace"))
