package io.understudy.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Our own classes, read from the folders that this build compiled them into. */
public final class CompiledClasses {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    private static final List<String> PRODUCTION = List.of(
            "common/main",
            "common/local-cluster/main",
            "gateway/main",
            "mirror/main",
            "mirror/kafka-consumer",
            "deploy/cluster",
            "deploy/lab",
            "deploy/cli");
    private static final List<String> TESTS = List.of(
            "common", "common/local-cluster", "gateway", "mirror", "mirror/kafka-consumer", "deploy", "deploy/bench");

    private CompiledClasses() {}

    public static JavaClasses ofProduction() {
        return Production.CLASSES;
    }

    static JavaClasses ofTests() {
        return in(TESTS, "test-classes");
    }

    private static JavaClasses in(List<String> modules, String folder) {
        List<Path> folders = modules.stream()
                .map(module -> ROOT.resolve(module).resolve("target").resolve(folder))
                .filter(Files::isDirectory)
                .toList();
        return new ClassFileImporter().importPaths(folders);
    }

    static Stream<String> packagesOf(JavaClasses classes) {
        return classes.stream().map(type -> type.getPackageName()).distinct().sorted();
    }

    /** Read once per JVM. */
    private static final class Production {
        static final JavaClasses CLASSES = in(PRODUCTION, "classes");
    }
}
