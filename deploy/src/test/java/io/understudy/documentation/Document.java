package io.understudy.documentation;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.commonmark.ext.heading.anchor.IdGenerator;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.Code;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.Image;
import org.commonmark.node.IndentedCodeBlock;
import org.commonmark.node.Node;
import org.commonmark.node.Text;
import org.commonmark.parser.IncludeSourceSpans;
import org.commonmark.parser.Parser;

/**
 * What a Markdown file of ours has in it that can be held against something.
 *
 * @param anchors what links to its headings may name
 */
record Document(Path path, List<Block> blocks, List<Quote> quotes, List<Link> links, Set<String> anchors) {

    private static final Parser PARSER = Parser.builder()
            .includeSourceSpans(IncludeSourceSpans.BLOCKS_AND_INLINES)
            .build();

    private static final List<Document> ALL = Repository.files().stream()
            .filter(file -> file.toString().endsWith(".md"))
            .map(Document::of)
            .toList();

    /** A block of code, fenced or indented; {@code language} may be empty. */
    record Block(Place place, String language, String text) {}

    /** Code within a sentence. */
    record Quote(Place place, String text) {}

    /** A link or a picture. */
    record Link(Place place, String target, String text) {}

    /** As it is written, code and all. */
    record Line(Place place, String text) {}

    /** Every one there is. */
    static List<Document> all() {
        return ALL;
    }

    /** Those that are written by hand. */
    static Stream<Block> allBlocks() {
        return ALL.stream()
                .filter(document -> !document.path().startsWith(Repository.ROOT.resolve("docs/reference")))
                .flatMap(document -> document.blocks().stream());
    }

    static Stream<Quote> allQuotes() {
        return ALL.stream().flatMap(document -> document.quotes().stream());
    }

    static Stream<Link> allLinks() {
        return ALL.stream().flatMap(document -> document.links().stream());
    }

    static Stream<Line> allLines() {
        return ALL.stream().flatMap(document -> lines(document.path()));
    }

    /** Those of any file. */
    static Stream<Line> lines(Path file) {
        List<String> lines = Repository.text(file).lines().toList();
        return IntStream.range(0, lines.size()).mapToObj(line -> new Line(new Place(file, line + 1), lines.get(line)));
    }

    static Document of(Path path) {
        return of(path, Repository.text(path));
    }

    static Document of(Path path, String markdown) {
        Reading reading = new Reading(path);
        PARSER.parse(markdown).accept(reading);
        return new Document(path, reading.blocks, reading.quotes, reading.links, reading.anchors);
    }

    private static final class Reading extends AbstractVisitor {

        private final Path path;
        private final IdGenerator ids = IdGenerator.builder().build();
        private final List<Block> blocks = new ArrayList<>();
        private final List<Quote> quotes = new ArrayList<>();
        private final List<Link> links = new ArrayList<>();
        private final Set<String> anchors = new HashSet<>();

        Reading(Path path) {
            this.path = path;
        }

        @Override
        public void visit(FencedCodeBlock block) {
            blocks.add(new Block(place(block), block.getInfo(), block.getLiteral()));
        }

        @Override
        public void visit(IndentedCodeBlock block) {
            blocks.add(new Block(place(block), "", block.getLiteral()));
        }

        @Override
        public void visit(Code code) {
            // In a table's cell a bar has a backslash before it.
            quotes.add(new Quote(place(code), code.getLiteral().replace("\\|", "|")));
        }

        @Override
        public void visit(org.commonmark.node.Link link) {
            links.add(new Link(place(link), link.getDestination(), text(link)));
            visitChildren(link);
        }

        @Override
        public void visit(Image image) {
            links.add(new Link(place(image), image.getDestination(), ""));
        }

        @Override
        public void visit(Heading heading) {
            anchors.add(ids.generateId(text(heading)));
            visitChildren(heading);
        }

        private Place place(Node node) {
            return new Place(path, node.getSourceSpans().get(0).getLineIndex() + 1);
        }

        private static String text(Node node) {
            StringBuilder text = new StringBuilder();
            node.accept(new AbstractVisitor() {
                @Override
                public void visit(Text plain) {
                    text.append(plain.getLiteral());
                }

                @Override
                public void visit(Code code) {
                    text.append(code.getLiteral());
                }
            });
            return text.toString();
        }
    }
}
