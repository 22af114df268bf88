"""`streamtensor report`: what a compiled design is, as one page of HTML."""

from streamtensor.report.page import write_report

__all__ = ["write_report"]
