package io.understudy.mirror.auth;

/** Handling of the source's roles and users in the target. */
public enum AuthMode {
    /** Copies none: the target has its own. */
    NONE,
    /** Keeps roles, their grants and users as in the source. */
    COPY
}
