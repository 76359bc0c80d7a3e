package io.understudy.mirror.auth;

/** How the source's roles and users are handled in the target. */
public enum AuthMode {
    /** Nothing: the target has its own. */
    NONE,
    /** Roles, their grants and users are kept as the source has them. */
    COPY
}
