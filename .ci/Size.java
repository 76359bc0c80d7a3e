import com.sun.source.tree.BlockTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.ImportTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.PackageTree;
import com.sun.source.tree.StatementTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreeScanner;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Prints files, physical lines, NCSS (statements and declarations) and classes of the main code by module, and files above
 * 400 lines. Run as {@code java .ci/Size.java} in the root of the repository.
 */
final class Size {

    private static final int LONG_FILE = 400;

    private int files;
    private long lines;
    private long ncss;
    private long classes;

    public static void main(String[] arguments) throws IOException {
        PrintStream out = System.out;
        Map<String, List<Path>> modules;
        try (Stream<Path> all = Files.walk(Path.of(""))) {
            modules = all.filter(path -> path.toString().matches("(?!.*(^|/)target/).*src/main/java/.*\\.java"))
                    .collect(Collectors.groupingBy(
                            path -> path.toString().replaceFirst("/src/main/java/.*", ""), TreeMap::new, Collectors.toList()));
        }
        Size product = new Size();
        out.printf("%-24s %7s %8s %8s %8s%n", "module", "files", "lines", "ncss", "classes");
        for (Map.Entry<String, List<Path>> module : modules.entrySet()) {
            Size size = new Size();
            size.add(module.getValue());
            out.println(size.row(module.getKey()));
            if (!module.getKey().equals("deploy/bench")) {
                product.add(size);
            }
        }
        out.println(product.row("all but deploy/bench"));
        out.println("files above " + LONG_FILE + " lines:");
        modules.values().stream()
                .flatMap(List::stream)
                .map(path -> Map.entry(lines(path), path))
                .filter(each -> each.getKey() > LONG_FILE)
                .sorted(Map.Entry.<Long, Path>comparingByKey().reversed())
                .forEach(each -> out.printf("%7d  %s%n", each.getKey(), each.getValue()));
    }

    private void add(List<Path> sources) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
            JavacTask task = (JavacTask)
                    compiler.getTask(null, manager, problem -> {}, List.of(), null, manager.getJavaFileObjectsFromPaths(sources));
            for (CompilationUnitTree unit : task.parse()) {
                unit.accept(new Counter(), null);
            }
        }
        files += sources.size();
        lines += sources.stream().mapToLong(Size::lines).sum();
    }

    private void add(Size other) {
        files += other.files;
        lines += other.lines;
        ncss += other.ncss;
        classes += other.classes;
    }

    private String row(String name) {
        return String.format("%-24s %7d %8d %8d %8d", name, files, lines, ncss, classes);
    }

    private static long lines(Path path) {
        try (Stream<String> lines = Files.lines(path)) {
            return lines.count();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private final class Counter extends TreeScanner<Void, Void> {

        @Override
        public Void scan(Tree tree, Void unused) {
            boolean counts = (tree instanceof StatementTree && !(tree instanceof BlockTree) && !(tree instanceof ClassTree))
                    || tree instanceof ClassTree
                    || tree instanceof MethodTree
                    || tree instanceof ImportTree
                    || tree instanceof PackageTree;
            if (counts) {
                ncss++;
            }
            if (tree instanceof ClassTree) {
                classes++;
            }
            return super.scan(tree, unused);
        }
    }
}
