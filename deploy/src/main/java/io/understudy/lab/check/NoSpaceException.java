package io.understudy.lab.check;

/** The core takes no puts, so that none can be looked for. The message is for the user, one line. */
public final class NoSpaceException extends Exception {

    private static final long serialVersionUID = 1L;

    NoSpaceException(Throwable cause) {
        super(
                "the core takes no writes (alarm NOSPACE): a switchover has frozen it, or it is full."
                        + " \"understudy mirror failback\", or \"switchover --undo\" before the home has moved, lifts the"
                        + " former; --fresh begins anew",
                cause);
    }
}
