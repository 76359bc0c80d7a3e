package io.understudy.bench.relay;

import io.understudy.bench.Goal;
import java.util.List;

/** What is measured; as text, its name. */
public interface RelayWork {

    /** In a line, for people. */
    String description();

    /** Measured in turn, in this order. */
    List<Relay> relays();

    /** What the mirror is to reach. */
    List<Goal> goals();
}
