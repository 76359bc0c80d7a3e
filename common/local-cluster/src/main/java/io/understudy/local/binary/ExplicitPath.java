package io.understudy.local.binary;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The path that the user names: the program, or the folder it is in. If it is no good the search ends with that. */
final class ExplicitPath implements Place {

    static final String PROPERTY = "understudy.etcd";
    static final String VARIABLE = "UNDERSTUDY_ETCD";

    private final @Nullable String named;

    ExplicitPath() {
        this(System.getProperty(PROPERTY, System.getenv(VARIABLE)));
    }

    ExplicitPath(@Nullable String named) {
        this.named = named;
    }

    @Override
    public String describe() {
        return VARIABLE + " or -D" + PROPERTY;
    }

    boolean isNamed() {
        return named != null && !named.isBlank();
    }

    @Override
    public EtcdBinaries look(Consumer<String> progress) throws NotHereException {
        if (named == null || named.isBlank()) {
            throw new NotHereException("not set");
        }
        Path path = Path.of(named).toAbsolutePath();
        try {
            return Files.isDirectory(path) ? EtcdBinaries.in(path) : EtcdBinaries.of(path);
        } catch (NotHereException e) {
            // Silently running another etcd than the one asked for would be worse than running none.
            throw new EtcdNotFoundException(List.of(describe() + " says '" + named + "': " + e.getMessage()));
        }
    }
}
