package io.understudy.local.binary;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** Asks places in order; the first that has etcd wins, and each that has not is remembered with its reason. */
record Search(List<Place> places) {

    static Search ofThisMachine() {
        EtcdCache cache = EtcdCache.ofThisUser();
        return new Search(List.of(
                new ExplicitPath(),
                new SystemPath(),
                cache,
                new Fetched(cache, new OfficialRelease()),
                new Fetched(cache, new DebianPackages())));
    }

    EtcdBinaries run(Consumer<String> progress) {
        List<String> tried = new ArrayList<>();
        for (Place place : places) {
            try {
                return place.look(progress);
            } catch (NotHereException e) {
                tried.add(place.describe() + ": " + e.getMessage());
            }
        }
        throw new EtcdNotFoundException(tried);
    }
}
