"""The table that `svc` reads its commands from says what the catalogue says."""

from svc_http.run.cli import command_pages, command_table


def test_the_table_is_as_the_catalogue_makes_it() -> None:
    text = command_table.FILE.read_text("utf-8")
    fresh = "".join(f"{line}\n" for line in command_pages.command_table_lines())

    assert text == fresh, f"the table of commands is old; run: {command_table.WRITE}"
