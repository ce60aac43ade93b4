//! Stage 2: are all expected policies present and enforced right now?
