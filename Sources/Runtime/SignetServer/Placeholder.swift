import Hummingbird
import HummingbirdTLS
import NIOSSL
import X509
enum PlaceholderServer {}
