package io.understudy.lab.check;

/** The core takes no puts, so that none can be looked for. The message is for the user, one line. */
public final class NoSpaceException extends Exception {

    private static final long serialVersionUID = 1L;

    NoSpaceException(Throwable cause) {
        super(
                "the core rejects writes (alarm NOSPACE): it is frozen by a switchover, or full. To unfreeze it, run"
                        + " \"understudy mirror failback\", or \"switchover --undo\" before the primary role has moved;"
                        + " --fresh deletes all data",
                cause);
    }
}
