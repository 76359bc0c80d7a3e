package io.understudy.lab;

import io.understudy.lab.check.Viewpoint;
import java.util.List;

/** Closes them together. */
record Viewpoints(List<Viewpoint> all) implements AutoCloseable {

    Viewpoints {
        all = List.copyOf(all);
    }

    @Override
    public void close() {
        all.forEach(Viewpoint::close);
    }
}
