"""Cloud Custodian's own command line, with the one address that it has built in taken from the environment instead."""

from __future__ import annotations

import sys
from typing import Any

from c7n.cli import main
from c7n.resources.sqs import SQS
from c7n.utils import local_session


def _client(self: Any) -> Any:
    return local_session(self.session_factory).client("sqs")


SQS.get_client = _client

if __name__ == "__main__":
    sys.argv[0] = "custodian"
    main()
