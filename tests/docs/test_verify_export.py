"""Both ways to verify an export that the document shows accept and name what they should."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from attrs import frozen

from svc_core.ledger.log.checkpoint import Checkpoint, sign
from svc_core.ledger.log.note import Ed25519Signer, to_base64
from svc_core.ledger.log.record_seals import TreeHead, seal_batch
from svc_core.ledger.records import Draft, Op, encode_line, split_line

PAGE = "docs/verify-export.md"
LEDGER = "led_0123456789abcdef01234567"
SUBJECT = "sbj_" + "0" * 24


@frozen
class Export:
    """An export of ten records, a checkpoint of the first eight, and a folder to work in."""

    lines: tuple[bytes, ...]
    checkpoint: Path
    folder: Path

    def write(self, lines: list[bytes]) -> Path:
        path = self.folder / "export.ndjson"
        path.write_bytes(b"".join(line + b"\n" for line in lines))
        return path


@pytest.fixture
def export(tmp_path: Path) -> Export:
    head, lines, subject = TreeHead.empty(LEDGER), [], None
    for number in range(10):
        payload = {
            "salt": f"{number:022d}",
            "label": f'Zürich \\ "{number}" % %s 😀\x7f',
            "n": 1e-7,
        }
        kind = "claim" if subject else "subject"
        draft = Draft(kind, "assert", subject, None, None, None, "key_%s\"'"[:6], payload)
        batch = seal_batch(head, [draft], f"2026-01-05T09:00:{number:02d}.000000Z")
        head, subject = batch.head, subject or batch.records[0].id
        lines += batch.lines
        if head.size == 8:
            signer = Ed25519Signer.from_seed(b"s" * 32)
            note = sign(Checkpoint(f"ledger.example/{LEDGER}", 8, head.root), signer)
            (tmp_path / "checkpoint").write_text(note, "utf-8")
    parts = split_line(lines[5])
    lines[5] = encode_line(parts.head, None, parts.seal.decode())
    return Export(tuple(lines), tmp_path / "checkpoint", tmp_path)


def _block(documents: dict[str, str], language: str) -> str:
    blocks = re.findall(rf"^```{language}\n(.*?)^```$", documents[PAGE], re.DOTALL | re.MULTILINE)
    assert len(blocks) == 1
    block: str = blocks[0]
    return block


@pytest.fixture(params=[pytest.param("sh", marks=pytest.mark.needs("jq", "sha256sum")), "python"])
def command(request: pytest.FixtureRequest, documents: dict[str, str], tmp_path: Path) -> list[str]:
    """The script as somebody would save and call it."""
    path = tmp_path / f"verify.{request.param}"
    path.write_text(_block(documents, request.param), "utf-8")
    return ["sh", str(path)] if request.param == "sh" else [sys.executable, "-I", str(path)]


def _run(command: list[str], *paths: Path) -> tuple[int, str]:
    process = subprocess.run(
        [*command, *map(str, paths)], capture_output=True, text=True, check=False, timeout=60
    )
    return process.returncode, process.stdout + process.stderr


def test_an_intact_export_is_accepted(export: Export, command: list[str]) -> None:
    code, output = _run(command, export.write(list(export.lines)), export.checkpoint)

    assert (code, output.split(";")[0]) == (0, "10 records are intact")


def test_one_letter_flipped_is_named_by_its_line(export: Export, command: list[str]) -> None:
    for line in (0, 3, 9):
        for mark in (b'"label":"Z', b'"author":"k', b'"seal":"', b'"prev":"', b'"payloadHash":"'):
            lines = list(export.lines)
            at = lines[line].index(mark) + len(mark)
            line_bytes = bytearray(lines[line])
            line_bytes[at] ^= 1
            lines[line] = bytes(line_bytes)

            assert _run(command, export.write(lines)) == (
                1,
                f"line {line + 1} is not as it was sealed\n",
            )


def test_lines_that_are_missing_moved_or_foreign_are_named(
    export: Export, command: list[str]
) -> None:
    lines = list(export.lines)
    for export_lines, line in (
        ([*lines[:4], *lines[5:]], 5),
        ([*lines[:4], lines[3], *lines[4:]], 5),
        ([lines[1], lines[0], *lines[2:]], 1),
        ([*lines[:4], b"rubbish", *lines[5:]], 5),
        ([*lines[:4], b"", *lines[4:]], 5),
        ([*lines[:4], lines[4] + b"\r", *lines[5:]], 5),
    ):
        assert _run(command, export.write(export_lines)) == (
            1,
            f"line {line} is not as it was sealed\n",
        )


def test_the_program_sees_what_a_checkpoint_excludes(
    export: Export, documents: dict[str, str], tmp_path: Path
) -> None:
    path = tmp_path / "verify.py"
    path.write_text(_block(documents, "python"), "utf-8")
    command = [sys.executable, "-I", str(path)]

    cut = _run(command, export.write(list(export.lines[:7])), export.checkpoint)

    assert cut == (1, "these are not the 8 records that were signed\n")
    assert _run(command, export.write(list(export.lines)), export.checkpoint)[0] == 0


def test_the_program_finds_content_that_a_record_erases(
    documents: dict[str, str], tmp_path: Path
) -> None:
    path, lines = tmp_path / "verify.py", tmp_path / "export.ndjson"
    path.write_text(_block(documents, "python"), "utf-8")
    head, target = TreeHead.empty(LEDGER), None
    log: list[bytes] = []
    acts: tuple[Op, ...] = ("assert", "assert", "erase")
    for number, op in enumerate(acts):
        content = {"salt": f"{number:022d}"}
        draft = Draft("claim", op, SUBJECT, target, None, None, "key_1", content)
        batch = seal_batch(head, [draft], f"2026-01-05T09:00:{number:02d}.000000Z")
        head, target = batch.head, batch.records[0].id if number else None
        log += batch.lines
    (tmp_path / "checkpoint").write_text(f"x\n3\n{to_base64(head.root)}\n")
    parts = split_line(log[1])
    erasure = encode_line(parts.head, None, parts.seal.decode())
    for second, code, message in (
        (log[1], 1, "line 2 has content that line 3 erases"),
        (erasure, 0, "3 records are intact; the root is"),
    ):
        lines.write_bytes(b"".join(line + b"\n" for line in (log[0], second, log[2])))
        output = _run([sys.executable, "-I", str(path)], lines, tmp_path / "checkpoint")
        assert (output[0], message in output[1]) == (code, True), output
