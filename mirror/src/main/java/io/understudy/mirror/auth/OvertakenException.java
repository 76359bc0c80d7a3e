package io.understudy.mirror.auth;

/** The compared state is outdated; the comparison must be repeated. */
final class OvertakenException extends Exception {

    OvertakenException(String why) {
        super(why);
    }
}
