package io.understudy.gateway.page;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;

/**
 * The files of the dashboard by path, loaded once. Other files of the class path are not served.
 *
 * <p>Invariant D2: the dashboard shows what the API returns, and a killed voter, paused mirror or cut link within 3 s.
 *
 * <p>Invariant D2b: the dashboard resumes its streams after a restart or a lost connection, without script errors.
 *
 * <p>Invariant D2c: the dashboard shows no key to a user without permission, and displays keys and values literally.
 *
 * <p>Invariant D2d: the dashboard is usable by keyboard, and axe-core reports nothing in either theme.
 *
 * <p>Invariant D3: the page consists of small files of its own origin, and its content security policy blocks none of
 * them.
 */
public final class Page {

    /** Path prefix of all files except the page itself. */
    static final String FOLDER = "/dashboard/";

    private static final String WEBJARS = "/META-INF/resources/webjars/";

    /** Files of this project, next to this class and served below {@link #FOLDER}. */
    static final List<String> FILES = List.of(
            "app.js",
            "banner.js",
            "charts.js",
            "checks.js",
            "command.js",
            "events.js",
            "figures.js",
            "format.js",
            "graph.js",
            "html.js",
            "icons.svg",
            "keybrowser.js",
            "keybytes.js",
            "keytree.js",
            "keyvalue.js",
            "keywatch.js",
            "layout.css",
            "login.js",
            "mark.svg",
            "members.js",
            "mirrors.js",
            "parts.css",
            "peers.js",
            "places.js",
            "plot.css",
            "processes.js",
            "samples.js",
            "session.js",
            "state.js",
            "stream.js",
            "theme.js",
            "timerange.js",
            "tokens.css",
            "topology.css",
            "topology.js");

    private static final Map<String, String> TYPES = Map.of(
            "html", "text/html; charset=utf-8",
            "css", "text/css; charset=utf-8",
            "js", "text/javascript; charset=utf-8",
            "svg", "image/svg+xml");

    private static final Page NONE = new Page(Map.of());

    private final Map<String, Asset> assets;

    private Page(Map<String, Asset> assets) {
        this.assets = Map.copyOf(assets);
    }

    public static Page load() {
        Map<String, Asset> assets = new HashMap<>();
        assets.put("/", read("index.html", "html"));
        FILES.forEach(file -> assets.put(FOLDER + file, read(file, file.substring(file.lastIndexOf('.') + 1))));
        assets.put(FOLDER + "lit-html.js", library("lit-html", "lit-html.js"));
        assets.put(FOLDER + "uplot.js", library("uplot", "dist/uPlot.iife.min.js"));
        assets.put(FOLDER + "uplot.css", library("uplot", "dist/uPlot.min.css"));
        return new Page(assets);
    }

    /** Returns an empty page, which serves no file. */
    public static Page none() {
        return NONE;
    }

    /** Returns the file at a path of the REST port. */
    public Optional<Asset> at(String path) {
        return Optional.ofNullable(assets.get(path));
    }

    Map<String, Asset> assets() {
        return assets;
    }

    /** Loads a library file of the version chosen by the build. */
    private static Asset library(String name, String file) {
        Properties built = new Properties();
        String properties = "/META-INF/maven/org.webjars.npm/" + name + "/pom.properties";
        try (InputStream in = resource(properties)) {
            built.load(in);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return read(
                WEBJARS + name + "/" + built.getProperty("version") + "/" + file,
                file.substring(file.lastIndexOf('.') + 1));
    }

    private static Asset read(String resource, String ending) {
        try (InputStream in = resource(resource)) {
            String type = TYPES.get(ending);
            if (type == null) {
                throw new IllegalStateException("content type unknown: " + resource);
            }
            return new Asset(type, in.readAllBytes());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static InputStream resource(String name) {
        InputStream in = Page.class.getResourceAsStream(name);
        if (in == null) {
            throw new IllegalStateException(name + " is missing from this build");
        }
        return in;
    }
}
