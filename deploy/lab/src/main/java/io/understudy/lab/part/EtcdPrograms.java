package io.understudy.lab.part;

import io.understudy.lab.progress.Progress;
import io.understudy.lab.progress.Progress.Phase;
import io.understudy.local.binary.EtcdBinaries;
import org.jspecify.annotations.Nullable;

/** Finds etcd's programs, fetching them if this machine has none. */
public final class EtcdPrograms {

    private static final String NAME = "etcd";

    private final Progress progress;
    private volatile @Nullable EtcdBinaries found;

    public EtcdPrograms(Progress progress) {
        this.progress = progress;
        progress.add(NAME, "");
    }

    /**
     * Finds them.
     *
     * @throws io.understudy.local.binary.EtcdNotFoundException they are nowhere and cannot be fetched
     */
    public void find() {
        progress.change(NAME, Phase.STARTING, "locating etcd");
        EtcdBinaries binaries = EtcdBinaries.find(step -> progress.change(NAME, Phase.STARTING, step));
        found = binaries;
        progress.change(NAME, Phase.READY, binaries.version() + ", " + binaries.etcd());
    }

    /**
     * Returns the found programs.
     *
     * @throws IllegalStateException {@link #find} has not returned yet
     */
    public EtcdBinaries found() {
        EtcdBinaries known = found;
        if (known == null) {
            throw new IllegalStateException("etcd not located yet");
        }
        return known;
    }
}
