package io.understudy.architecture;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Our own classes, read from the folders that this build compiled them into. */
final class CompiledClasses {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();

    private static final List<String> MODULES =
            List.of("common", "common/local-cluster", "gateway", "mirror", "mirror/kafka-consumer", "deploy");

    private CompiledClasses() {}

    static JavaClasses ofProduction() {
        return in("classes");
    }

    static JavaClasses ofTests() {
        return in("test-classes");
    }

    private static JavaClasses in(String folder) {
        List<Path> folders = MODULES.stream()
                .map(module -> ROOT.resolve(module).resolve("target").resolve(folder))
                .filter(Files::isDirectory)
                .toList();
        return new ClassFileImporter().importPaths(folders);
    }

    static Stream<String> packagesOf(JavaClasses classes) {
        return classes.stream().map(type -> type.getPackageName()).distinct().sorted();
    }
}
