package io.understudy.etcd;

import java.net.URI;
import java.util.List;
import java.util.function.Consumer;

/** The condition on settings that each URL is one of a server: scheme, host and port alone. */
public final class EndpointUrls implements Consumer<List<URI>> {

    @Override
    public void accept(List<URI> urls) {
        urls.forEach(Endpoint::of);
    }
}
