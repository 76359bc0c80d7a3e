package io.understudy.mirror.auth;

/** What a comparison found is no longer so: it has to be made again, if this process is to make it. */
final class OvertakenException extends Exception {

    private static final long serialVersionUID = 1L;

    OvertakenException(String why) {
        super(why);
    }
}
