"""What the repository says in words: documents whole, sources their docstrings and comments."""

import io
import re
import subprocess
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[3]
_BEGIN_STATEMENTS = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
_COMMENTED = (".toml", ".sql", ".smtp", ".service")


def tracked() -> list[Path]:
    """What git tracks; everything but the obvious where there is no git (a source archive)."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
        ).stdout
        names = [name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        apart = {".venv", ".git", "var", "dist", "__pycache__", ".hypothesis"}
        names = [
            path.relative_to(ROOT).as_posix()
            for path in ROOT.rglob("*")
            if path.is_file() and not apart & set(path.parts) and not path.name.endswith(".pyc")
        ]
    return [ROOT / name for name in names if (ROOT / name).is_file()]


def of_sources() -> dict[str, str]:
    """Path → words, of every tracked file that has comments."""
    found = {}
    for file in tracked():
        name = file.relative_to(ROOT).as_posix()
        if file.suffix == ".py":
            found[name] = of_python(file.read_text("utf-8"))
        elif file.suffix in _COMMENTED or (name.startswith("scripts/") and not file.suffix):
            found[name] = comments(file.read_text("utf-8"))
    return found


def comments(text: str) -> str:
    """The comments of TOML, SQL, SMTP dialogues, units and shell scripts."""
    return "\n".join(re.findall(r"(?:^|[ \t])(?:#|--) (.*)", text, re.MULTILINE))


def of_python(text: str) -> str:
    """Docstrings and comments."""
    found = []
    before = tokenize.NEWLINE
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            found.append(token.string.lstrip("# "))
        elif token.type == tokenize.STRING and before in _BEGIN_STATEMENTS:
            found.append(token.string)
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            before = token.type
    return "\n".join(found)


def anchors(text: str) -> set[str]:
    """What renderers of Markdown call the sections of a document."""
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w -]", "", one.lower()).replace(" ", "-") for one in headings}
