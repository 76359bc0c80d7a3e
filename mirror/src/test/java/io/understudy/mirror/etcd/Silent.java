package io.understudy.mirror.etcd;

import io.understudy.mirror.sink.SinkListener;

/** Hears of nothing. */
final class Silent implements SinkListener {
    @Override
    public void unavailable(String why) {}

    @Override
    public void available() {}

    @Override
    public void written(long changes) {}
}
