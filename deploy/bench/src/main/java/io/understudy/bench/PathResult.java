package io.understudy.bench;

import java.util.List;

/**
 * How a path did with a work.
 *
 * @param <R> figures of a run
 */
sealed interface PathResult<R> {

    /** The server does not support this kind of request; has its error. */
    record NotServed<R>(String reason) implements PathResult<R> {}

    /** It does, but not all went well, so that there are no figures: what happened first. */
    record Failed<R>(String reason) implements PathResult<R> {}

    /**
     * All its runs, at least one.
     *
     * @param median each figure's by itself
     */
    record Measured<R>(List<R> runs, R median) implements PathResult<R> {

        public Measured {
            runs = List.copyOf(runs);
        }
    }
}
