#if __has_include(<opus.h>)
#include <opus.h>
#elif __has_include(<opus/opus.h>)
#include <opus/opus.h>
#else
#error "opus.h is missing: run `make setup` (it installs libopus-dev), then build again"
#endif

/// `opus_encoder_ctl` takes a variable number of arguments, which Swift cannot call.
static inline int signet_opus_set_constant_bitrate(OpusEncoder *encoder, opus_int32 bits_per_second) {
    int status = opus_encoder_ctl(encoder, OPUS_SET_VBR(0));
    return status == OPUS_OK ? opus_encoder_ctl(encoder, OPUS_SET_BITRATE(bits_per_second)) : status;
}
