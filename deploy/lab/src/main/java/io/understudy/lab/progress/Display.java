package io.understudy.lab.progress;

import java.util.List;

/** Where part states are shown. Called by one thread at a time. */
interface Display {

    /** How often it wants to show passing time, besides changes; zero for never. */
    long refreshMillis();

    /** Shows all parts, of which {@code changed} is new. */
    void show(List<PartState> all, PartState changed);

    /** Shows all parts as time passes. */
    void refresh(List<PartState> all);

    /** Shows a line for good, outside the parts' lines. */
    void note(String line, List<PartState> all);

    /** What is shown stays as it is; only notes follow. */
    void end();
}
