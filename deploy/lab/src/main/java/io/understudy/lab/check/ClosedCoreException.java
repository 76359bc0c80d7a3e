package io.understudy.lab.check;

/** The core takes no puts, so that none can be looked for. The message is for the user, one line. */
public final class NoSpaceException extends Exception {

    private static final long serialVersionUID = 1L;

    NoSpaceException(Throwable cause) {
        super(
                "the core rejects writes (alarm NOSPACE): it is full. Compact and defragment it, then run"
                        + " \"etcdctl alarm disarm\"; --fresh deletes all data",
                cause);
    }
}
