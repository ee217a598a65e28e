// A stand-in for Apple's module, for checking types on another system.
