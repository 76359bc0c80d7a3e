package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.Compare;
import io.understudy.mirror.sink.SinkException;
import java.util.function.Function;

/**
 * What transactions beside the checkpoint's compare, so that none of them lands once another writer has taken the
 * mirror over.
 *
 * @param why tells, with calls of the asking thread, what became of the mirror when {@code compare} no longer holds
 */
record Fence(Compare compare, Function<TargetCalls, SinkException> why) {}
