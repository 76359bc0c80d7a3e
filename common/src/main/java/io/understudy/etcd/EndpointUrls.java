package io.understudy.etcd;

import java.net.URI;
import java.util.List;
import java.util.function.Consumer;

/** Setting condition that each URL consists of scheme, host and port alone. */
public final class EndpointUrls implements Consumer<List<URI>> {

    @Override
    public void accept(List<URI> urls) {
        urls.forEach(Endpoint::of);
    }
}
