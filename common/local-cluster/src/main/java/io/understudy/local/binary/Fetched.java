package io.understudy.local.binary;

import java.nio.file.Path;
import java.util.function.Consumer;

/** Fetches the programs from a source into the cache, unless someone else has done so in the meantime. */
record Fetched(EtcdCache cache, Source source) implements Place {

    /** Where programs can be fetched from. */
    interface Source {

        /** What it is, for people. */
        String describe();

        /** Puts etcd, etcdctl and, if there is one, etcdutl into the folder, which exists and is empty. */
        void fetch(Path folder, Consumer<String> progress) throws NotHereException;
    }

    @Override
    public String describe() {
        return source.describe();
    }

    @Override
    public EtcdBinaries look(Consumer<String> progress) throws NotHereException {
        return cache.install(source, progress);
    }
}
