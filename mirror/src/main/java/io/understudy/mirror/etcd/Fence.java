package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.Compare;
import io.understudy.mirror.sink.SinkException;
import java.util.function.Function;

/**
 * What transactions beside the checkpoint's compare, so that none of them lands once another writer has taken the
 * mirror over.
 *
 * @param why explains, by the given calls, a {@code compare} that no longer holds
 */
record Fence(Compare compare, Function<TargetCalls, SinkException> why) {}
