package io.understudy.lab.progress;

import java.util.List;

/** A display of part states. Called by one thread at a time. */
interface Display {

    /** Returns the interval of refreshes without changes; zero for never. */
    long refreshMillis();

    /** Shows all parts, of which {@code changed} is new. */
    void show(List<PartState> all, PartState changed);

    /** Shows all parts as time passes. */
    void refresh(List<PartState> all);

    /** Shows a line for good, outside the parts' lines. */
    void note(String line, List<PartState> all);

    /** Ends updates of the displayed states; only notes follow. */
    void end();
}
