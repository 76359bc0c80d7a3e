package io.understudy.cli;

import java.net.URI;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** URLs on the command line, where they are easily given without {@code http://}. */
final class UrlFlag implements ITypeConverter<URI> {

    @Override
    public URI convert(String text) {
        if (!text.contains("://")) {
            throw new TypeConversionException("'" + text + "' has no scheme; use http:// or https://");
        }
        try {
            URI url = URI.create(text);
            boolean isHttp = "http".equalsIgnoreCase(url.getScheme()) || "https".equalsIgnoreCase(url.getScheme());
            if (isHttp && url.getRawAuthority() != null) {
                return url;
            }
        } catch (IllegalArgumentException e) {
            // Told below, in the words for all that is no such URL.
        }
        throw new TypeConversionException("'" + text + "' is not a valid URL (example: http://127.0.0.1:2379)");
    }
}
