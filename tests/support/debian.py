"""Programs of Debian's packages, unpacked into the folder of a test: nothing is installed, and no
daemon begins."""

import subprocess


def unpacked(folder, *packages):
    """The folder, with the files of these packages below it as they would be below `/`."""
    subprocess.run(["apt-get", "update", "-qq"], check=False)  # which root alone may do
    subprocess.run(["apt-get", "download", "-qq", *packages], cwd=folder, check=True)
    for archive in folder.glob("*.deb"):
        subprocess.run(["dpkg", "-x", archive, folder], check=True)
    return folder
