# SPDX-License-Identifier: Apache-2.0
"""A temporary folder for runs. icepath gives up root: its files are those of the user who called sudo, who couldn't
even enter a folder of root's."""
import contextlib
import os
import tempfile


@contextlib.contextmanager
def users_folder(prefix):
    """The folder's path. It is removed at the end."""
    with tempfile.TemporaryDirectory(prefix=prefix) as folder:
        user = os.environ.get("SUDO_UID")
        if os.geteuid() == 0 and user is not None:
            os.chown(folder, int(user), -1)
        yield folder
