"""Let the tests of this folder share `pictures`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
