package io.understudy.local.binary;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The path that the user names: the program, or the folder it is in. */
final class ExplicitPath {

    static final String PROPERTY = "understudy.etcd";
    static final String VARIABLE = "UNDERSTUDY_ETCD";

    private final @Nullable String named;

    ExplicitPath() {
        this(System.getProperty(PROPERTY, System.getenv(VARIABLE)));
    }

    ExplicitPath(@Nullable String named) {
        this.named = named;
    }

    String describe() {
        return VARIABLE + " or -D" + PROPERTY;
    }

    boolean isNamed() {
        return named != null && !named.isBlank();
    }

    /**
     * The programs there; empty if no path is named.
     *
     * @throws EtcdNotFoundException they are unusable or of no wanted version: running another etcd than the named one
     *     would be worse than running none
     */
    Optional<EtcdBinaries> find(List<WantedVersion> versions) {
        if (named == null || named.isBlank()) {
            return Optional.empty();
        }
        Path path = Path.of(named).toAbsolutePath();
        try {
            EtcdBinaries found = Files.isDirectory(path) ? EtcdBinaries.in(path) : EtcdBinaries.of(path);
            if (versions.stream().noneMatch(wanted -> wanted.byDefault() || wanted.accepts(found.version()))) {
                throw new NotHereException("version is " + found.version() + ", required: " + versions);
            }
            return Optional.of(found);
        } catch (NotHereException e) {
            throw new EtcdNotFoundException(List.of(describe() + " is '" + named + "': " + e.getMessage()));
        }
    }
}
