package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.Compare;
import io.understudy.mirror.sink.SinkException;
import java.util.function.Function;

/**
 * A compare that fails any transaction once another writer has taken over the mirror.
 *
 * @param why explains, by the given calls, a {@code compare} that no longer holds
 */
record Fence(Compare compare, Function<TargetCalls, SinkException> why) {}
