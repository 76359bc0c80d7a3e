package io.understudy.mirror.auth;

/** The compared state is outdated; the comparison must be repeated. */
final class OvertakenException extends Exception {

    private static final long serialVersionUID = 1L;

    OvertakenException(String why) {
        super(why);
    }
}
