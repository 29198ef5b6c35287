"""The release before this one, as far as its history is here, and what may change in the tables since.

Upgrades migrate first and replace the processes after that, one by one: so for a while the previous release's workers
and pages run on the new tables. A migration may add; what it adds must not be missed by who does not know it. What
nobody uses any more is taken away by the release after.
"""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from django.apps.registry import Apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.models import Field, Model
from django.db.models.fields import NOT_PROVIDED

from tests.conftest import CHECKOUT

# The newest migration of the release before this one; it moves on with each release.
MIGRATION = ("capture", "0012_unread_captures")


def tables(at: tuple[str, str] | None = None) -> Apps:
    """The models after a migration, or after all."""
    return MigrationLoader(None).project_state(at).apps


def broken(old: Apps, new: Apps) -> Iterator[str]:
    """What of the new tables the code of the old ones cannot work with."""
    for model in old.get_app_config("capture").get_models(include_auto_created=True):
        table = model._meta.db_table
        later = {each._meta.db_table: each for each in new.get_models(include_auto_created=True)}.get(table)
        if later is None:
            yield f"{table} is gone"
        else:
            yield from (f"{table}.{words}" for words in _broken_columns(columns(model), columns(later)))


def columns(model: type[Model]) -> dict[str, Field[Any, Any]]:
    return {str(field.column): field for field in model._meta.local_concrete_fields}


def _broken_columns(old: dict[str, Field[Any, Any]], new: dict[str, Field[Any, Any]]) -> Iterator[str]:
    for name, field in old.items():
        if name not in new:
            yield f"{name} is gone"
        elif field.null and not new[name].null:
            yield f"{name} may be empty no more"
        elif kind(field) != kind(new[name]):
            yield f"{name} is another kind"
    for name in new.keys() - old.keys():
        if not new[name].null and new[name].db_default is NOT_PROVIDED and not new[name].generated:
            yield f"{name} is new and the database has no value for it"


def kind(field: Field[Any, Any]) -> str:
    """What a column holds, by PostgreSQL's name; a text may become longer."""
    return str(field.db_type(connection)).partition("(")[0]


def source(folder: Path) -> str:
    """Unpack the previous release there. Returns which commit that is, or nothing where its history is not here."""
    commit = _git("describe", "--tags", "--abbrev=0").strip() or _commit_of_the_migration()
    if not commit:
        return ""
    packed = subprocess.run(["git", "archive", commit], cwd=CHECKOUT, capture_output=True, check=False)
    if packed.returncode:
        return ""
    with tarfile.open(fileobj=BytesIO(packed.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return commit


def _commit_of_the_migration() -> str:
    """The newest commit of the main line that has the release's migration and none after it."""
    app, name = MIGRATION
    path = f"{app}/migrations"
    for commit in _git("rev-list", "--first-parent", "HEAD").split():
        names = _git("ls-tree", "--name-only", f"{commit}:{path}").split()
        numbered = sorted(each for each in names if each[:4].isdigit())
        if numbered and numbered[-1] == f"{name}.py":
            return commit
        if numbered and numbered[-1] < f"{name}.py":
            break
    return ""


def _git(*arguments: str) -> str:
    try:
        result = subprocess.run(["git", *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return ""
    return result.stdout if result.returncode == 0 else ""
