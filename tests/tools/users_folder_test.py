# SPDX-License-Identifier: Apache-2.0
"""Under sudo, a tool's folder for runs is the user's, as whom icepath writes there."""
import os
import sys
import unittest
from unittest import mock

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
from users_folder import users_folder  # noqa: E402


class UsersFolder(unittest.TestCase):
    def owner(self, environment):
        with mock.patch.dict(os.environ, environment), users_folder("icepath-folder-") as folder:
            self.folder = folder
            return os.stat(folder).st_uid

    def test_it_is_the_user_s_who_called_sudo_and_is_removed(self):
        if os.geteuid() != 0:
            self.skipTest("needs root")
        self.assertEqual(self.owner({"SUDO_UID": "65534"}), 65534)
        self.assertFalse(os.path.exists(self.folder))

    def test_without_sudo_it_is_the_caller_s(self):
        with mock.patch.dict(os.environ):
            os.environ.pop("SUDO_UID", None)
            self.assertEqual(self.owner({}), os.geteuid())


if __name__ == "__main__":
    unittest.main()
