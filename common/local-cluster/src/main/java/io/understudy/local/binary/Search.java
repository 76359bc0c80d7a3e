package io.understudy.local.binary;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Looks in one place after the other, for each wanted version in turn. A failure lists every place with its reason. */
record Search(ExplicitPath explicit, List<BinarySource> places) {

    static Search ofThisMachine() {
        EtcdCache cache = EtcdCache.ofThisUser();
        return new Search(
                new ExplicitPath(),
                List.of(
                        new SystemPath(),
                        cache,
                        new Fetched(cache, new OfficialRelease()),
                        new Fetched(cache, new DebianPackages()),
                        new Fetched(cache, new GoModules())));
    }

    EtcdBinaries run(List<WantedVersion> versions, Consumer<String> progress) {
        Optional<EtcdBinaries> named = explicit.find(versions);
        if (named.isPresent()) {
            return named.get();
        }
        List<String> tried = new ArrayList<>(List.of(explicit.describe() + ": not set"));
        for (WantedVersion wanted : versions) {
            for (BinarySource place : places) {
                try {
                    return place.look(wanted, progress);
                } catch (NotHereException e) {
                    tried.add((wanted.byDefault() ? "" : wanted + ", ") + place.describe() + ": " + e.getMessage());
                }
            }
        }
        throw new EtcdNotFoundException(tried);
    }
}
