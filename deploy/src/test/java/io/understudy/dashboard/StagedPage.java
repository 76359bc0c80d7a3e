package io.understudy.dashboard;

import java.util.Objects;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ExtensionContext.Store;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** Gives the tests of a class one {@link Browser}, and each of them a {@link PageServer}, which JUnit closes. */
final class StagedPage implements BeforeAllCallback, AfterEachCallback, ParameterResolver {

    private static final Namespace NAMESPACE = Namespace.create(StagedPage.class);

    @Override
    public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
        return ExtensionContextScope.TEST_METHOD;
    }

    @Override
    public void beforeAll(ExtensionContext context) {
        store(context).put(Browser.class, Browser.open());
    }

    /** Leaves the page before its server goes, of which it would complain to the next test. */
    @Override
    public void afterEach(ExtensionContext context) {
        Browser browser = browser(context);
        browser.show("about:blank");
        var unused = browser.complaints();
    }

    @Override
    public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
        Class<?> type = parameter.getParameter().getType();
        return type == Browser.class || type == PageServer.class;
    }

    @Override
    public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
        return parameter.getParameter().getType() == Browser.class
                ? browser(context)
                : store(context).getOrComputeIfAbsent(PageServer.class, key -> PageServer.start(), PageServer.class);
    }

    private static Browser browser(ExtensionContext context) {
        return Objects.requireNonNull(store(context).get(Browser.class, Browser.class));
    }

    private static Store store(ExtensionContext context) {
        return context.getStore(NAMESPACE);
    }
}
