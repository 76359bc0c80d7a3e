package io.understudy.mirror.takeover;

/** Whether the source of a hand-over is found frozen. */
enum FreezeFound {
    RAISED,
    LIFTED,
    /** It was not asked, or did not say. */
    UNTOLD
}
