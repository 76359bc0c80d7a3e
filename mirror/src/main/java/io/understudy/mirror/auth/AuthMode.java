package io.understudy.mirror.auth;

/** What becomes in the target of the source's roles and users. */
public enum AuthMode {
    /** Nothing: the target has its own. */
    NONE,
    /** Roles, their grants and users are kept as the source has them. */
    COPY
}
