"""Files of this machine are named at a terminal alone, never by what comes over HTTP."""

import pytest

from svc_core.intel.intake.operations import SourceReader
from svc_http.run.control.services import loans_of

FILES = ("/etc/passwd", "etc/passwd", "file:///etc/passwd", "FILE:/etc/passwd", ".", "~/.ssh")


@pytest.mark.parametrize("location", FILES)
def test_the_dashboard_names_no_file_and_reads_none(house, location):
    reader = loans_of(house.service.runtime)[SourceReader]
    with pytest.raises(ValueError, match="svc sources add"):
        reader.locations(location)
    with pytest.raises(ValueError, match="svc sources add"):
        house.run(reader.read(location))


def test_a_terminal_names_files(house, tmp_path):
    (tmp_path / "feed.xml").write_text("<rss/>")
    reader = loans_of(house.service.runtime, files=True)[SourceReader]
    assert reader.locations(str(tmp_path)) == (str(tmp_path / "feed.xml"),)
    assert house.run(reader.read(str(tmp_path / "feed.xml"))) == b"<rss/>"
